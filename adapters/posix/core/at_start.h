// Places what every preloaded program touches before its main on few pages, as base/at_start.h does
// for the engine.
#pragma once

#define AT_START_CODE __attribute__((section(".text.startup")))
#define AT_START_DATA __attribute__((section(".data")))
