import type { EventName } from './notification.ts'

export interface QuietHours {
  /** Minutes since midnight. If `from` is later, they include midnight. */
  readonly from: number
  readonly to: number
  readonly timezone: string
  /** Events that are told nevertheless. */
  readonly except: readonly EventName[]
}

/** `23:00` as minutes; undefined for anything else. */
export function parseTimeOfDay(text: string): number | undefined {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}

/** Returns whether a moment (Unix milliseconds) is within the quiet hours. Creating the format takes long, so it is created once. */
export function createQuietCheck({ from, to, timezone }: QuietHours): (at: number) => boolean {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  return (at) => {
    const now = parseTimeOfDay(format.format(at)) ?? 0
    return from <= to ? now >= from && now < to : now >= from || now < to
  }
}
