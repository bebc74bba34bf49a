// Every preloaded program touches some code and variables of ours before its main. These lie
// together on few pages: a first touch of a page costs about a microsecond, and thousands of
// programs of a job touch nothing else of ours.
#pragma once

// Code that runs then: beside the constructors.
#define CAIRN_CODE_AT_START __attribute__((section(".text.startup")))
// Variables that are stored to then: beside those that the dynamic linker has stored to already.
#define CAIRN_DATA_AT_START __attribute__((section(".data")))
