/**
 * What every answer says to a browser, whatever its content is: take it for nothing but what it says it is, run and load
 * nothing, show it in no frame, give it to no page of another origin (which CORS mode, checked by `cors.ts`, is
 * exempt from), and tell nobody its address.
 */
export const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const
