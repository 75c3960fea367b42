#pragma once
#include "WiFi.h"

class WiFiClient {};

class WiFiClientSecure : public WiFiClient {
public:
  void setCACert(const char *certificate) { hasCertificate = std::strstr(certificate, "BEGIN CERTIFICATE") != nullptr; }
  bool hasCertificate = false;
};
