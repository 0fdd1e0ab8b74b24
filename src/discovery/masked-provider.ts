import type { ServerSettings } from '../game/server-settings.ts'
import { createMask } from '../secrets/mask.ts'
import type { Provider, ServerList } from './provider.ts'

/** Settings of servers that are secret themselves, and may be the same as those of the provider. */
const secretKey = /password|secret|credentials|token/i

/**
 * A provider whose lists contain none of its secrets, even if the server of a list sends them back. A server is refused if its name,
 * address or another setting that is shown contains one.
 */
export function createMaskedProvider(provider: Provider, secrets: readonly string[]): Provider {
  if (secrets.length === 0) return provider
  const mask = createMask(secrets)
  /** A server is the same object until it changes. */
  const clean = new WeakSet<ServerSettings>()

  function isClean(server: ServerSettings): boolean {
    if (clean.has(server)) return true
    const shown = JSON.stringify(server, (key, value: unknown) => (secretKey.test(key) ? undefined : value))
    if (mask(shown) !== shown) return false
    clean.add(server)
    return true
  }

  function masked(list: ServerList): ServerList {
    const { servers, refused, error } = list
    const kept = servers.filter(isClean)
    const count = servers.length - kept.length
    return {
      ...list,
      servers: kept,
      refused: [...refused.map(mask), ...(count === 0 ? [] : [`${count} entries contain a secret of this provider`])],
      ...(error !== undefined && { error: mask(error) }),
    }
  }
  return { ...provider, lists: () => provider.lists().map(masked) }
}
