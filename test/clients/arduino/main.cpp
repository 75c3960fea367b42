// Runs the sketch until it has taken PICTURES pictures.
#include "camera.ino"

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  setup();
  while (picturesTaken < std::atoi(std::getenv("PICTURES"))) loop();
}
