import { floorPercent } from '../../util/uptime.ts'

/** A number in a sentence, with its grammatical form: English has `one` and `other`. */
export interface Count {
  readonly text: string
  readonly form: Intl.LDMLPluralRule
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** For an unknown value. */
export const unknownText = '–'

/** Numbers and times in the reader's locale. @param zone IANA time zone; default the reader's */
export function createFormat(locale: string, zone?: string) {
  const options = { ...(zone !== undefined && { timeZone: zone }) }
  const integer = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
  const decimal = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const fraction = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 })
  const time = new Intl.DateTimeFormat(locale, { ...options, hour: '2-digit', minute: '2-digit' })
  const day = new Intl.DateTimeFormat(locale, { ...options, day: 'numeric', month: 'short' })
  const weekdayFormat = (weekday: 'short' | 'long') => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', weekday })
  const weekdays = { short: weekdayFormat('short'), long: weekdayFormat('long') }
  const dateTime = new Intl.DateTimeFormat(locale, { ...options, dateStyle: 'medium', timeStyle: 'short' })
  const date = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'medium' })
  const now = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(0, 'second')
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'long' })
  const forms = new Intl.PluralRules(locale)
  const decimalForms = new Intl.PluralRules(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const list = new Intl.ListFormat(locale)
  const unitNumber = (unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 0 })
  const durations = new Map(units.map(([unit]) => [unit, unitNumber(unit)]))
  return {
    integer: (value: number | null): string => (value === null ? unknownText : integer.format(value)),
    /** One decimal. */
    decimal: (value: number | null): string => (value === null ? unknownText : decimal.format(value)),
    /** The latency of a server, a number of milliseconds, with one decimal below 10. */
    latency: (ms: number): string => (ms < 9.95 ? decimal : integer).format(ms),
    /** 0 to 1 as percent. Never rounded up to 100 %. */
    percent: (part: number): string => percent.format(floorPercent(part) / 100),
    /** A number of milliseconds, with decimals below 10. */
    milliseconds: (ms: number): string => (ms >= 9.95 ? integer : ms >= 0.95 ? decimal : fraction).format(ms),
    /** Hours and minutes. */
    time: (at: number): string => time.format(at),
    /** Hours and minutes; with the date unless the time is within 20 hours, because the hour alone would not tell the day. */
    near: (at: number, now: number): string => (Math.abs(now - at) < 20 * 3_600_000 ? time : dateTime).format(at),
    /** @param day 0 is Monday, as 2024-01-01 was */
    weekday: (day: number, style: 'short' | 'long'): string => weekdays[style].format(Date.UTC(2024, 0, 1 + day)),
    /** Day and month. */
    day: (at: number): string => day.format(at),
    dateTime: (at: number): string => dateTime.format(at),
    /** @param text `2026-11-21`, UTC */
    date: (text: string): string => date.format(Date.parse(`${text}T00:00:00Z`)),
    relative(at: number, present: number): string {
      const elapsed = Math.max(0, present - at)
      if (elapsed < 5_000) return now
      const [unit, ms] = units.find(([, ms]) => elapsed >= ms) ?? ['second', 1_000]
      return relative.format(-Math.floor(elapsed / ms), unit)
    },
    /** An integer, or a mean with one decimal below 10. Null: unknown. */
    count(value: number | null, isMean = false): Count {
      if (value === null) return { text: unknownText, form: 'other' }
      const isDecimal = isMean && value > 0 && value < 9.95
      return isDecimal
        ? { text: decimal.format(value), form: decimalForms.select(value) }
        : { text: integer.format(value), form: forms.select(Math.round(value)) }
    },
    /** `a, b, and c`. */
    list: (items: readonly string[]): string => list.format(items),
    /** @param ms milliseconds */
    duration(ms: number): string {
      const parts: string[] = []
      let rest = Math.max(1_000, ms)
      for (const [unit, length] of units) {
        const count = Math.floor(rest / length)
        rest -= count * length
        if (count > 0 && parts.length < 2) parts.push(durations.get(unit)?.format(count) ?? '')
      }
      return parts.join(' ')
    },
  }
}

export type Format = ReturnType<typeof createFormat>
