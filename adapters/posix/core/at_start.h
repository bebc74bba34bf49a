// As base/at_start.h for the engine: what every preloaded program touches before its main lies
// together on few pages.
#pragma once

#define AT_START_CODE __attribute__((section(".text.startup")))
#define AT_START_DATA __attribute__((section(".data")))
