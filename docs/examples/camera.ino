// camera.ino: uploads a picture each minute. A picture is retried until the service has stored it, or refuses the token.
#include <Arduino.h>
#include <HTTPClient.h>
#include <Preferences.h>
#include <WiFi.h>
#include <WiFiClientSecure.h>
#include <esp_camera.h>
#include <esp_sleep.h>
#include <time.h>

const char *WIFI_NAME = "my-network";
const char *WIFI_PASSWORD = "my-password";
const char *BASE_URL = "https://files.example.com";
const char *ACCESS_TOKEN = "crt_...";
const char *PREFIX = "camera-17/";
// The certificate of the authority that issued the service's certificate.
const char *ROOT_CA = R"(-----BEGIN CERTIFICATE-----
...
-----END CERTIFICATE-----
)";
const uint32_t PERIOD_MS = 60000;
const uint32_t MAX_BACKOFF_S = 60;
const uint32_t MAX_WAIT_S = 3600;

uint32_t boots;
uint32_t pictures;

// The number of the start and that of the picture make the name unique, even if the clock goes back.
String nextName() {
  struct tm now;
  while (!getLocalTime(&now)) delay(1000);
  char time[24];
  strftime(time, sizeof time, "%Y-%m-%d/%H%M%S", &now);
  return String(PREFIX) + time + "-" + String(boots) + "-" + String(++pictures) + ".jpg";
}

// The token is revoked or has expired, or does not permit this upload: no later attempt succeeds.
bool isFinal(const String &problem) {
  return problem.indexOf("\"code\":\"access_token_") >= 0 || problem.indexOf("\"code\":\"scope_") >= 0;
}

// Returns the status, which is negative if the answer was lost. Sets `asked` to the seconds in Retry-After, or 0.
int put(const String &name, camera_fb_t *picture, uint32_t &asked) {
  WiFiClientSecure client;
  client.setCACert(ROOT_CA);
  HTTPClient http;
  http.setTimeout(30000);
  if (!http.begin(client, String(BASE_URL) + "/users/me/repo/" + name)) return -1;
  http.addHeader("Authorization", String("Bearer ") + ACCESS_TOKEN);
  http.addHeader("If-None-Match", "*");
  const char *collected[] = {"Retry-After"};
  http.collectHeaders(collected, 1);
  const int status = http.PUT(picture->buf, picture->len);
  asked = http.header("Retry-After").toInt();
  if (status == 403 && isFinal(http.getString())) {
    Serial.println(name + ": the service refuses the token");
    esp_deep_sleep_start(); // Until somebody resets the camera.
  }
  http.end();
  return status;
}

void store(const String &name, camera_fb_t *picture) {
  for (uint32_t backoff = 1;; backoff = min(2 * backoff, MAX_BACKOFF_S)) {
    uint32_t asked = 0;
    const int status = put(name, picture, asked);
    Serial.println(name + ": " + String(status));
    // 412: an earlier attempt stored it, and its answer was lost. 413: the service never accepts it.
    if (status == 200 || status == 201 || status == 412 || status == 413) return;
    delay(1000 * min(asked > 0 ? asked : backoff, MAX_WAIT_S));
  }
}

bool startCamera() {
  camera_config_t config = {};
  config.pin_pwdn = 32, config.pin_reset = -1, config.pin_xclk = 0;
  config.pin_sccb_sda = 26, config.pin_sccb_scl = 27;
  config.pin_d7 = 35, config.pin_d6 = 34, config.pin_d5 = 39, config.pin_d4 = 36;
  config.pin_d3 = 21, config.pin_d2 = 19, config.pin_d1 = 18, config.pin_d0 = 5;
  config.pin_vsync = 25, config.pin_href = 23, config.pin_pclk = 22;
  config.xclk_freq_hz = 20000000;
  config.ledc_timer = LEDC_TIMER_0, config.ledc_channel = LEDC_CHANNEL_0;
  config.pixel_format = PIXFORMAT_JPEG, config.frame_size = FRAMESIZE_UXGA, config.jpeg_quality = 12;
  // With two buffers, esp_camera_fb_get() returns a new picture, not the one after the last call.
  config.fb_count = 2, config.fb_location = CAMERA_FB_IN_PSRAM, config.grab_mode = CAMERA_GRAB_LATEST;
  return esp_camera_init(&config) == ESP_OK;
}

void setup() {
  Serial.begin(115200);
  Preferences preferences;
  preferences.begin("camera");
  boots = preferences.getUInt("boots", 0) + 1;
  preferences.putUInt("boots", boots);
  preferences.end();
  WiFi.begin(WIFI_NAME, WIFI_PASSWORD); // Reconnects by itself.
  configTime(0, 0, "pool.ntp.org");
  if (!startCamera()) ESP.restart();
}

void loop() {
  const uint32_t begun = millis();
  const String name = nextName();
  camera_fb_t *picture = esp_camera_fb_get();
  if (picture != nullptr) {
    store(name, picture);
    esp_camera_fb_return(picture);
  }
  const uint32_t taken = millis() - begun;
  if (taken < PERIOD_MS) delay(PERIOD_MS - taken);
}
