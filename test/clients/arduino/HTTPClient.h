// HTTP/1.1 without TLS over a socket. The status is negative if there is no answer, as in the library.
#pragma once
#include "WiFiClientSecure.h"
#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

class HTTPClient {
public:
  bool begin(WiFiClientSecure &client, const String &url) {
    const std::string text = url.c_str();
    const std::string scheme = "http://";
    const size_t slash = text.find('/', scheme.size());
    const size_t colon = text.find(':', scheme.size());
    if (text.rfind(scheme, 0) != 0 || slash == std::string::npos || colon > slash) return false;
    host = text.substr(scheme.size(), colon - scheme.size());
    port = text.substr(colon + 1, slash - colon - 1);
    path = text.substr(slash);
    return WiFi.hasBegun && client.hasCertificate;
  }

  void setTimeout(uint16_t) {}

  void addHeader(const String &name, const String &value) {
    headers += std::string(name.c_str()) + ": " + value.c_str() + "\r\n";
  }

  void collectHeaders(const char *names[], size_t count) { collected.assign(names, names + count); }

  int PUT(uint8_t *payload, size_t size) {
    const int socket = connectTo();
    if (socket < 0) return -1;
    const std::string head = "PUT " + path + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\nConnection: close\r\n" +
                             headers + "Content-Length: " + std::to_string(size) + "\r\n\r\n";
    int status = -2;
    if (sendAll(socket, head.data(), head.size())) status = sendAll(socket, payload, size) ? receive(socket) : -3;
    close(socket);
    return status;
  }

  String header(const char *name) {
    if (std::find(collected.begin(), collected.end(), name) == collected.end()) return "";
    for (size_t at = answer.find("\r\n"); at != std::string::npos; at = answer.find("\r\n", at + 2)) {
      const std::string line = answer.substr(at + 2, answer.find("\r\n", at + 2) - at - 2);
      const size_t colon = line.find(": ");
      if (colon != std::string::npos && strcasecmp(line.substr(0, colon).c_str(), name) == 0) {
        return line.substr(colon + 2).c_str();
      }
    }
    return "";
  }

  String getString() { return body.c_str(); }

  void end() {}

private:
  std::string host, port, path, headers, answer, body;
  std::vector<std::string> collected;

  int connectTo() {
    addrinfo hints = {}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return -1;
    int result = ::socket(found->ai_family, found->ai_socktype, 0);
    if (connect(result, found->ai_addr, found->ai_addrlen) != 0) {
      close(result);
      result = -1;
    }
    freeaddrinfo(found);
    return result;
  }

  static bool sendAll(int socket, const void *bytes, size_t size) {
    for (size_t sent = 0; sent < size;) {
      const ssize_t more = ::send(socket, static_cast<const char *>(bytes) + sent, size - sent, MSG_NOSIGNAL);
      if (more <= 0) return false;
      sent += more;
    }
    return true;
  }

  // Reads the answer, which ends with the connection.
  int receive(int socket) {
    char buffer[4096];
    while (answer.find("\r\n\r\n") == std::string::npos) {
      const ssize_t size = recv(socket, buffer, sizeof buffer, 0);
      if (size <= 0) return -5;
      answer.append(buffer, size);
    }
    const size_t end = answer.find("\r\n\r\n");
    body = answer.substr(end + 4);
    answer.resize(end + 2);
    for (ssize_t size; (size = recv(socket, buffer, sizeof buffer, 0)) > 0;) body.append(buffer, size);
    return std::atoi(answer.c_str() + answer.find(' '));
  }
};
