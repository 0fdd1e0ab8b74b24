import * as clack from '@clack/prompts'
import { escapeControls } from '../../util/escape-controls.ts'
import type { Extra } from './files.ts'
import type { PlannedServer } from './find-servers.ts'

// Without this, Ctrl+D closes the input, and the process ends with code 13 at an open question.
clack.updateSettings({ aliases: { '\x04': 'cancel' } })

const answered = async <T>(answer: Promise<T | typeof clack.CANCEL_SYMBOL>): Promise<T> => {
  const value = await answer
  if (clack.isCancel(value)) throw new Error('Cancelled; no configuration was written.')
  return value as T
}

const shown = ({ settings }: PlannedServer): string => escapeControls(settings.MC_DIRECTORY ?? settings.MC_SERVER ?? '')

/** The questions of `tickwarden init` on a terminal. Each throws an error at Ctrl+C and Ctrl+D. */
export const questions = {
  begin: (): void => clack.intro('Tickwarden'),
  end: (text: string): void => clack.outro(text),
  print: (text: string): void => clack.log.message(text),
  chooseServers: (found: readonly PlannedServer[]): Promise<readonly PlannedServer[]> =>
    answered(
      clack.multiselect<PlannedServer>({
        message: 'These servers were found on this machine. Which ones do you want to watch?',
        options: found.map((server) => ({ value: server, label: shown(server) })),
        initialValues: [...found],
        required: false,
      }),
    ),
  askServer: (check: (text: string) => string | undefined, isFirst: boolean): Promise<string> =>
    answered(
      clack.text({
        message: `${isFirst ? 'Address of the server' : 'Another server'}, or a folder with server.properties${isFirst ? '' : ' (Enter if there is none)'}`,
        ...(isFirst && { placeholder: 'mc.example.org' }),
        validate: (text) => check(text ?? ''),
      }),
    ),
  mayEnableRcon: (file: string): Promise<boolean> =>
    answered(
      clack.confirm({
        message: `Tick times need RCON, which is off. Switch it on in ${escapeControls(file)}? A backup is kept.`,
        initialValue: false,
      }),
    ),
  askRcon: (check: (text: string) => string | undefined): Promise<string> =>
    answered(
      clack.text({
        message: 'Tick times need RCON. Its address (Enter to leave it out)',
        validate: (text) => check(text ?? ''),
      }),
    ),
  askPassword: (): Promise<string> =>
    answered(clack.password({ message: 'Password of RCON', validate: (text) => (text ? undefined : 'RCON needs a password') })),
  chooseExtras: (extras: readonly Extra[]): Promise<readonly Extra[]> => {
    const labels = {
      compose: 'compose.yaml',
      systemd: 'systemd unit (tickwarden.service)',
      prometheus: 'Prometheus configuration (prometheus.yaml)',
    }
    return answered(
      clack.multiselect<Extra>({
        message: 'What else do you want to create?',
        options: extras.map((extra) => ({ value: extra, label: labels[extra] })),
        required: false,
      }),
    )
  },
  mayReplace: (names: readonly string[]): Promise<boolean> =>
    answered(clack.confirm({ message: `Replace ${names.join(', ')}?`, initialValue: false })),
}
