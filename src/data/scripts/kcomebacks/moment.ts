/** Day and time that a row inherits from the rows above it. */
export interface Above {
  readonly day: string | undefined
  readonly time: string
  /** The text of the time if it could not be parsed; `time` is then `--:--`. */
  readonly unparsed?: string
}

const unknownTime = '--:--'

export const nothingAbove: Above = { day: undefined, time: unknownTime }

const daysOf = (month: string): number => new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()

const weekday = '(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\\.?'
/** `1st (Fri)`, `1st, Friday`, with white space as in a cell: single spaces. */
const weekdayAfter = new RegExp(`^(\\d.*?)(?: ?\\(${weekday}\\)|[ ,] ?${weekday})$`, 'i')
/** `1st`, and with superscript markup: `1^st`, `1^(st)`. */
const ordinal = /(\d)\s*(?:\^?(?:st|nd|rd|th)\b|\^\((?:st|nd|rd|th)\))/gi

/** The day as written, without the ordinal suffix: `1st` is `1`, `TBA` stays. Undefined if it is not a day of the month. */
function readDay(text: string, month: string): string | undefined {
  const bare = text.replace(weekdayAfter, '$1').replace(ordinal, '$1').trim()
  if (/^\d+$/.test(bare)) {
    const day = Number(bare)
    return day >= 1 && day <= daysOf(month) ? bare : undefined
  }
  return bare.length <= 20 ? bare : undefined
}

const isCalendarDay = (day: string): boolean => /^\d+$/.test(day)

/** Whether a text has digits but is not a single day: `1/2`, `~5`. False for texts such as `TBA`, which mean unknown. */
export const isVagueDay = (day: string): boolean => /\p{N}/u.test(day) && !isCalendarDay(day)

/** `HH:MM`; undefined if it is not a time of day. */
export function readTime(text: string): string | undefined {
  const match = /^(\d{1,2})(?:\s*[:.]\s*(\d{2}))?(?:\s*(am|pm))?\.?(?:\s*(?:kst|\(kst\)))?$/i.exec(text)
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

const isUnknownTime = (time: string): boolean => /^(?:\?+|tb[acd]|-+|--:--)$/i.test(time)

export const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}...` : text)

/**
 * Day and time of a row, which the rows below inherit; or a text with the reason why it has none.
 * @param month `2024-02`
 */
export function readMoment(day: string, time: string, above: Above, month: string): Above | string {
  const given = day === '' ? above.day : readDay(day, month)
  if (given === undefined)
    return day === '' ? 'neither it nor a row above it has a day' : `"${clip(day)}" is not a day of the month`
  if (time !== '') {
    const parsed = readTime(time)
    if (parsed !== undefined || isUnknownTime(time)) return { day: given, time: parsed ?? unknownTime }
    return { day: given, time: unknownTime, unparsed: clip(time) }
  }
  // Blank means "as above". If the time above could not be parsed, that of an earlier row would be a guess. A day that is
  // not known cannot inherit the time of another day.
  return isCalendarDay(given) || day === '' ? { ...above, day: given } : { day: given, time: unknownTime }
}
