import { isIP } from 'node:net'
import { type Kind, text, url } from '../../settings/kinds/index.ts'
import { decodePart, hostOfUrl, parseUrl } from '../../util/parse-url.ts'
import { cut } from '../notification.ts'
import { type ChannelType, DeliveryError, linesOf } from './channel.ts'

/** Without any data, and for the whole mail: a server that sends a line of its reply now and then is never silent. */
const [timeoutMs, maxMs] = [10_000, 60_000]
const maxText = 100_000

/** The mail library reads them; without a single address it would refuse each mail. */
const addresses: Kind<string> = {
  expected: 'a mail address such as ops@example.org, or several with commas between them',
  parse: (given) => (/[^\s@<>]@[^\s@<>]/.test(given) ? given.trim() : undefined),
}

/** A mail through an SMTP server. Its Message-ID stays the same when it is sent again. */
export const email: ChannelType = {
  type: 'email',
  joins: true,
  keys: {
    url: {
      kind: url('smtps:', 'smtp:'),
      ...{ isSecret: true, isRequired: true },
    },
    password: { kind: text, isSecret: true },
    from: { kind: addresses, isRequired: true },
    to: { kind: addresses, isRequired: true },
  },
  findUnused({ url = '', password }) {
    const parsed = parseUrl(url)
    if (parsed?.username !== '' || (password === undefined && parsed.password === '')) return undefined
    const key = password === undefined ? 'url' : 'password'
    return [key, 'the url names no user; expected one such as smtps://user@mail.example.org']
  },
  async send(delivery, { url = '', password, from = '', to = '' }, context) {
    const { createTransport } = await import('nodemailer')
    const parsed = new URL(url)
    const { protocol, port, username, password: inUrl } = parsed
    const host = hostOfUrl(parsed)
    const isSecure = protocol === 'smtps:'
    const transport = createTransport({
      host: await context.resolve(host),
      port: Number(port) || (isSecure ? 465 : 587),
      secure: isSecure,
      ...(isIP(host) === 0 && { tls: { servername: host } }),
      ...(username !== '' && {
        auth: { user: decodePart(username), pass: password ?? decodePart(inUrl) },
        // A password is never sent in the clear, except on this machine.
        requireTLS: !isSecure && host !== 'localhost' && !host.startsWith('127.'),
      }),
      ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
      ...{ disableFileAccess: true, disableUrlAccess: true },
    })
    const [first] = delivery.notifications
    const others = delivery.notifications.length + delivery.more - 1
    try {
      await transport.sendMail({
        ...{ from, to, messageId: `<${first?.id}@tickwarden>` },
        subject: cut(`${first?.text ?? ''}${others > 0 ? ` (and ${others} more)` : ''}`, 200),
        text: linesOf(delivery, maxText),
        signal: AbortSignal.timeout(maxMs),
      })
    } catch (error) {
      const { responseCode, code, message } = error as { responseCode?: number; code?: string; message: string }
      // 5xx of SMTP is permanent, 4xx temporary.
      const isTemporary = responseCode === undefined ? code !== 'EAUTH' && code !== 'EENVELOPE' : responseCode < 500
      const reason =
        code === 'EABORT' ? `the mail server did not accept the mail within ${maxMs / 1000} seconds` : (code ?? message)
      throw new DeliveryError(responseCode === undefined ? reason : `the mail server answers ${responseCode}`, { isTemporary })
    } finally {
      transport.close()
    }
  },
}
