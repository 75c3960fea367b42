#pragma once
#include "Arduino.h"

struct WiFiClass {
  bool hasBegun = false;
  int begin(const char *, const char *) {
    hasBegun = true;
    return 0;
  }
};
inline WiFiClass WiFi;
