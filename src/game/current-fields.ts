import type { KnownFields, ServerSnapshot } from './snapshot.ts'

const noFields: KnownFields = Object.freeze({})

/** The fields that are valid now: none unless the server is up. Apart from snapshot.ts, which loads every source. */
export const currentFields = ({ up, fields }: Pick<ServerSnapshot, 'up' | 'fields'>): KnownFields =>
  up === true ? fields : noFields

/** The tick rate relative to its target; undefined if unknown, or if the server does not tick at its target on purpose. */
export function tickRatioOf(snapshot: Pick<ServerSnapshot, 'up' | 'fields'>): number | undefined {
  const { tickRate, tickRateTarget, tickPaused, tickFrozen, tickSprinting } = currentFields(snapshot)
  if (tickRate === undefined || tickPaused?.value || tickFrozen?.value || tickSprinting?.value) return undefined
  return tickRate.value / (tickRateTarget?.value || 20)
}
