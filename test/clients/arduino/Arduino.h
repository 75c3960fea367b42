// Stand-ins for what docs/guides.md uses of the core arduino-esp32, with the signatures of the core, for a host with
// POSIX. The clock is a virtual one, which only delay() advances.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

using std::min;

class String {
public:
  String(const char *text = "") : text(text) {}
  explicit String(int number) : text(std::to_string(number)) {}
  explicit String(unsigned number) : text(std::to_string(number)) {}
  const char *c_str() const { return text.c_str(); }
  int indexOf(const char *part) const {
    const size_t at = text.find(part);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }
  long toInt() const { return std::atol(text.c_str()); }
  friend String operator+(const String &left, const String &right) {
    return String((left.text + right.text).c_str());
  }
  friend String operator+(const String &left, const char *right) { return left + String(right); }

private:
  std::string text;
};

inline uint32_t virtualMillis = 0;

inline uint32_t millis() { return virtualMillis; }

// Prints the delay, for the test.
inline void delay(uint32_t ms) {
  std::printf("delay %u\n", ms);
  virtualMillis += ms;
}

// Of the core's time functions: the clock is not set for the first second.
inline bool isClockConfigured = false;
inline void configTime(long, int, const char *) { isClockConfigured = true; }
inline bool getLocalTime(struct tm *result, uint32_t = 5000) {
  if (!isClockConfigured || millis() < 1000) return false;
  const time_t now = std::atol(std::getenv("CLOCK")) + millis() / 1000;
  return gmtime_r(&now, result) != nullptr;
}

struct SerialPort {
  void begin(unsigned long) {}
  void println(const String &line) { std::printf("%s\n", line.c_str()); }
};
inline SerialPort Serial;

struct EspClass {
  [[noreturn]] void restart() { std::exit(3); }
};
inline EspClass ESP;
