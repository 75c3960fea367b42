"""python3 receiver.py, with WEBHOOK_SECRET in the environment"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
MAX_AGE = 300

def is_genuine(headers, body):
    """Whether one of the signatures is ours, and no older than five minutes."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdecimal() or abs(time.time() - int(sent)) > MAX_AGE:
        return False
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    own = base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256)).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(f"v1,{own}", each) for each in given)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_genuine(self.headers, body):
            self.send_error(400)
            return
        print(json.dumps(json.loads(body)), flush=True)  # Store it here, before the answer.
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass

port = int(os.environ.get("PORT", 8080))
server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
print(f"Waiting for events on port {port}.", file=sys.stderr)
server.serve_forever()
