/** A reply as it is read: without § codes (Bukkit keeps them), one kind of line end, nothing around it. */
export const plainReply = (text: string): string => text.replace(/§./gu, '').replaceAll('\r\n', '\n').trim()

/**
 * Whether a reply says that the server has no such command, or not in this form: from 1.13 `Unknown or incomplete command`
 * and other errors with a `<--[HERE]`, before that and on Bukkit `Unknown command`, before 1.13 `Usage: ...`.
 */
export const isUnknownCommand = (reply: string): boolean =>
  /^(?:Unknown (?:or incomplete )?command|Usage: )/i.test(reply) || reply.endsWith('<--[HERE]')
