/**
 * Undefined if the text is not a URL. Not by URL.canParse(), which Node.js 20 and 22 answer wrongly for `ü` once they have optimised the call.
 * @param base of a relative URL
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** The host of a URL as it is resolved and connected to: an IPv6 address without brackets. */
export const hostOfUrl = ({ hostname }: Pick<URL, 'hostname'>): string => hostname.replace(/^\[|\]$/g, '')

/** Whether the percent-encoding of a part of a URL is valid. */
export const isDecodable = (text: string): boolean => !text.includes('%') || decodePart(text) !== text

/** A part of a URL without percent-encoding; as it is if the encoding is not valid. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
