import { isAddressRange } from '../../settings/kinds/address.ts'
import type { Kind } from '../../settings/kinds/kind.ts'
import { rangeNames } from './trusted-proxies.ts'

/** Addresses of trusted reverse proxies. */
export const proxyRange: Kind<string> = {
  example: 'loopback',
  expected: `one of ${rangeNames.join(', ')}, an IP address, or a range such as 10.0.0.0/8`,
  parse: (given) => (rangeNames.includes(given) || isAddressRange(given) ? given : undefined),
}
