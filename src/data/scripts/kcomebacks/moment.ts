/** The month that a page is about. */
export interface Month {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
}

/** What the rows above a row say for it. */
export interface Above {
  readonly day: string | undefined
  readonly time: string
  /** What stands for the time where it cannot be read; `time` is then `--:--`. */
  readonly unread?: string
}

export const nothingAbove: Above = { day: undefined, time: '--:--' }

const unknownTime = '--:--'

export const monthKey = ({ year, month }: Month): string => `${year}-${String(month).padStart(2, '0')}`

const daysOf = ({ year, month }: Month): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

const weekday = '(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\\.?'
/** `1st (Fri)`, `1st, Friday`. */
const weekdayAfter = new RegExp(`^(\\d.*?)(?:\\s*\\(${weekday}\\)|[\\s,]\\s*${weekday})$`, 'i')
/** `1st`, and raised as the site writes it: `1^st`, `1^(st)`. */
const ordinal = /(\d)\s*(?:\^?(?:st|nd|rd|th)\b|\^\((?:st|nd|rd|th)\))/gi

/** The day as written, without the ordinal suffix: `1st` is `1`, `TBA` stays. Undefined where it is no day of the month. */
function readDay(text: string, month: Month): string | undefined {
  const bare = text.replace(weekdayAfter, '$1').replace(ordinal, '$1').trim()
  if (/^\d+$/.test(bare)) {
    const day = Number(bare)
    return day >= 1 && day <= daysOf(month) ? bare : undefined
  }
  return bare.length <= 20 ? bare : undefined
}

/** Speaks of days, but of none in particular: `1/2`, `~5`. A text such as `TBA` says all that is known. */
export const isVagueDay = (day: string): boolean => /\p{N}/u.test(day) && !isCalendarDay(day)

const isCalendarDay = (day: string): boolean => /^\d+$/.test(day)

/** `HH:MM`; undefined where it is no time of day. */
function readTime(text: string): string | undefined {
  const match = /^(\d{1,2})(?:\s*[:.]\s*(\d{2}))?\s*(am|pm)?\.?(?:\s*(?:kst|\(kst\)))?$/i.exec(text)
  if (match === null || (match[2] === undefined && match[3] === undefined)) return undefined
  const half = match[3]?.toLowerCase()
  let hours = Number(match[1])
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return undefined
    hours = (hours % 12) + (half === 'pm' ? 12 : 0)
  }
  const minutes = Number(match[2] ?? 0)
  return hours <= 23 && minutes <= 59 ? `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}` : undefined
}

/** Says that nobody knows the time. */
const saysUnknown = (time: string): boolean => /^(?:\?+|tb[acd]|-+|--:--)$/i.test(time)

export const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text)

function readTimeCell(time: string): Omit<Above, 'day'> {
  const known = readTime(time)
  if (known !== undefined) return { time: known }
  return saysUnknown(time) ? { time: unknownTime } : { time: unknownTime, unread: clip(time) }
}

/** What a row says of day and time, for itself and for the rows below; a text says why it says nothing. */
export function readMoment(day: string, time: string, above: Above, month: Month): Above | string {
  const given = day === '' ? above.day : readDay(day, month)
  if (given === undefined) return day === '' ? 'it has no day, nor has a row above it' : `"${clip(day)}" is no day of the month`
  if (time !== '') return { day: given, ...readTimeCell(time) }
  // Blank is "as above": where that cannot be read, the time of an earlier row would be a guess. A day that is not known
  // has no time to share with the day above it.
  return isCalendarDay(given) || day === '' ? { ...above, day: given } : { day: given, time: unknownTime }
}
