import type { ViewContext } from './context.ts'
import type { Format } from './format.ts'
import type { Texts } from './texts/en.ts'
import type { PageServer } from './types.ts'

/** The states in which a server is not just fine, worst first. */
export const verdictStates = ['down', 'hung', 'lagging', 'limited', 'unknown', 'upgrading', 'maintenance'] as const
export type VerdictState = (typeof verdictStates)[number]

/** The health of a server, worst first. Everything before `unknown` needs attention. */
export const healthNames = [...verdictStates, 'asleep', 'frozen', 'paused', 'sprinting', 'up'] as const
export type HealthName = (typeof healthNames)[number]

export interface Health {
  readonly name: HealthName
  /** Position in `healthNames`. */
  readonly rank: number
  readonly needsAttention: boolean
  /** Why, in plain words. */
  readonly reason: string
}

/** The text of a code that the service sends; the code itself if it is an unknown one. */
export const textOfCode = (code: string, texts: Texts['reasons'] | Texts['server']['sourceStates']): string =>
  (texts as Readonly<Record<string, string>>)[code] ?? code

/** A server below this part of its target tick rate lags. */
const laggingBelow = 0.95
/** A mean tick time above this part of the available time is close to the limit. */
const tightAbove = 0.8

/** The available milliseconds per tick, and the target tick rate. */
export function tickBudget({ state: { tickRateTarget } }: PageServer): { readonly target: number; readonly budget: number } {
  const target = tickRateTarget !== null && tickRateTarget > 0 ? tickRateTarget : 20
  return { target, budget: 1000 / target }
}

/** Milliseconds of a tick, as exact as the budget. */
const usedTime = (ms: number, budget: number, format: Format): string =>
  budget < 1 ? format.milliseconds(ms) : format.decimal(ms)

function lagReason(server: PageServer, { texts, format }: ViewContext): string | undefined {
  const { tickRate, tickTimeMean } = server.state
  const { target, budget } = tickBudget(server)
  if (tickRate !== null && tickRate < target * laggingBelow)
    return texts.reason.lowRate(format.decimal(tickRate), format.integer(target))
  if (tickTimeMean !== null && tickTimeMean > budget)
    return texts.reason.longTicks(usedTime(tickTimeMean, budget, format), format.milliseconds(budget))
  return undefined
}

/**
 * Cached by server object, which is replaced when a server changes: usually one of a thousand at a time. A page has one language.
 */
const known = new WeakMap<PageServer, Health>()

/** The health of a server, with the reason. */
export function healthOf(server: PageServer, context: ViewContext): Health {
  const before = known.get(server)
  if (before !== undefined) return before
  const [name, reason] = classify(server, context)
  const rank = healthNames.indexOf(name)
  const health = { name, rank, needsAttention: rank < healthNames.indexOf('unknown'), reason }
  known.set(server, health)
  return health
}

function classify(server: PageServer, context: ViewContext): readonly [HealthName, string] {
  const { texts, format, now } = context
  const { state, error } = server
  const why = (code: string) => textOfCode(code, texts.reasons)
  if (state.worldUpgrade === 'failed') return ['down', texts.reason.upgradeFailed]
  if (state.worldUpgrade === 'running')
    return [
      'upgrading',
      texts.reason.upgrading(state.worldUpgradeProgress === null ? '' : format.percent(state.worldUpgradeProgress)),
    ]
  if (state.maintenance) {
    const { reason, until } = state.maintenance
    return ['maintenance', texts.reason.maintenance(reason, format.near(until, now))]
  }
  if (state.asleep === true) return ['asleep', texts.reason.asleep]
  if (state.up === null) return ['unknown', server.lastContact === null ? texts.reason.unknown : texts.reason.stale]
  if (!state.up) return ['down', error === null ? texts.reason.downUnknown : why(error)]
  if (state.responsive === false) return ['hung', texts.reason.hung]
  // Stopped ticks are not slow ticks, and a sprint has no target.
  const lag = state.frozen === true || state.paused === true || state.sprinting === true ? undefined : lagReason(server, context)
  if (lag !== undefined) return ['lagging', lag]
  const [failure] = state.failing
  if (failure !== undefined) return ['limited', texts.reason.limited(failure.source, why(failure.error))]
  if (state.frozen === true) return ['frozen', texts.reason.frozen]
  if (state.paused === true) return ['paused', texts.reason.paused]
  if (state.sprinting === true) return ['sprinting', texts.reason.sprinting]
  return ['up', texts.reason.up]
}

export type Light = 'good' | 'tight' | 'bad' | 'off'

/** The level of a server's ticks, with a text. */
export function tickLight(server: PageServer, context: ViewContext): { readonly light: Light; readonly reason: string } {
  const { texts, format } = context
  const { state } = server
  const { tickRate, tickTimeMean, tickTimeP99 } = state
  const { target, budget } = tickBudget(server)
  const limit = format.milliseconds(budget)
  const used = (ms: number) => usedTime(ms, budget, format)
  if (state.worldUpgrade === 'running') return { light: 'off', reason: texts.ticks.upgrading }
  if (state.asleep === true) return { light: 'off', reason: texts.ticks.asleep }
  if (state.up === false) return { light: 'off', reason: texts.ticks.down }
  if (state.up !== true || (tickRate === null && tickTimeMean === null)) return { light: 'off', reason: texts.ticks.unknown }
  if (state.frozen === true || state.paused === true) return { light: 'off', reason: texts.ticks.stopped }
  if (state.sprinting === true) return { light: 'good', reason: texts.ticks.sprinting }
  const lag = lagReason(server, context)
  if (lag !== undefined) return { light: 'bad', reason: lag }
  if (tickTimeMean !== null && tickTimeMean > budget * tightAbove)
    return { light: 'tight', reason: texts.ticks.tight(used(tickTimeMean), limit) }
  if (tickTimeP99 !== null && tickTimeP99 > budget)
    return { light: 'tight', reason: texts.ticks.spikes(used(tickTimeP99), limit) }
  if (tickTimeMean === null)
    return { light: 'good', reason: texts.ticks.goodRate(format.decimal(tickRate ?? 0), format.integer(target)) }
  return { light: 'good', reason: texts.ticks.good(used(tickTimeMean), limit) }
}
