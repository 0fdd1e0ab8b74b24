/** Length of a day, milliseconds. Calendar days here are UTC days, which all have the same length. */
const dayLength = 86_400_000

/** Days in the 400-year cycle of the calendar. */
const cycle = 146_097

/** Days since 1970-01-01 of a calendar date; undefined for anything else. Month and day may be unpadded: `2019-3-1`. */
export function parseDay(text: string): number | undefined {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text)
  if (match === null) return undefined
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])]
  // One cycle later, because Date.UTC maps the years 0 to 99 to 1900 to 1999.
  const date = new Date(Date.UTC(year + 400, month - 1, day))
  // Of a date that does not exist it makes one of another month.
  return year === 0 || date.getUTCMonth() !== month - 1 ? undefined : date.getTime() / dayLength - cycle
}

/** `YYYY-MM-DD` of a day counted from 1970-01-01. */
export const formatDay = (day: number): string => new Date(day * dayLength).toISOString().slice(0, 10)

/** The day that Unix milliseconds fall on at UTC+`hours`. */
export const dayAt = (milliseconds: number, hours: number): number => Math.floor((milliseconds + hours * 3_600_000) / dayLength)

/** Unix seconds of `YYYY-MM-DD HH:MM:SS UTC`; undefined for anything else. */
export function parseLastUpdate(text: string): number | undefined {
  const [, date = '', time] = /^(\d{4}-\d{2}-\d{2}) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d) UTC$/.exec(text) ?? []
  // Date.parse() would accept 30 February.
  return parseDay(date) === undefined ? undefined : Date.parse(`${date}T${time}Z`) / 1000
}

/** `YYYY-MM-DD HH:MM:SS UTC` of Unix seconds. */
export const formatLastUpdate = (time: number): string =>
  `${new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
