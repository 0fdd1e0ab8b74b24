/**
 * Headers of every HTML reply besides its content security policy: it needs no permissions of the browser, and is not loaded by
 * other sites.
 */
export const htmlHeaders = {
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
} as const
