import { cleanName } from './clean-text.ts'
import { escapeHtml } from './node.ts'
import type { Texts } from './texts/en.ts'

export type SnippetName = keyof Texts['server']['snippets']

/** A text as a YAML string in double quotes: JSON is YAML. */
const quote = (text: string): string => JSON.stringify(text)

/** A name in the path of a URL. Parentheses would end a link in Markdown. */
const segment = (name: string): string =>
  encodeURIComponent(name).replace(/[()]/g, (character) => `%${character.charCodeAt(0).toString(16)}`)

/** Addresses on which a service listens for all addresses of its machine. */
const anyAddress = /^(0\.0\.0\.0|\[::\])(?=:\d+$)/

/**
 * The scrape configuration of Prometheus.
 * @param listen `host:port` if the metrics have a separate address, which is without TLS and path prefix
 */
function prometheusOf({ protocol, host, hostname, pathname }: URL, listen: string | null): string {
  const target = listen === null ? host : listen.replace(anyAddress, hostname)
  return [
    '- job_name: tickwarden',
    `  scheme: ${listen === null ? protocol.replace(':', '') : 'http'}`,
    `  metrics_path: ${listen === null ? pathname : '/'}metrics`,
    '  static_configs:',
    `    - targets: [${quote(target)}]`,
  ].join('\n')
}

/**
 * Snippets to copy, to show a server elsewhere.
 * @param base URL of the service, with a trailing slash
 * @param metricsListen `host:port` if the metrics have a separate address
 */
export function snippetsOf(
  base: string,
  name: string,
  metricsListen: string | null = null,
): readonly (readonly [SnippetName, string])[] {
  const api = `${base}api/v1/servers/${segment(name)}`
  const page = `${base}servers/${segment(name)}`
  const label = cleanName(name)
  const markdown = label.replace(/[\\[\]<>*_`]/g, '\\$&')
  return [
    ['prometheus', prometheusOf(new URL(base), metricsListen)],
    ['grafana', `/d/tickwarden-server/?var-server=${encodeURIComponent(name)}`],
    ['banner', `<a href="${page}"><img src="${api}/banner.png" alt="${escapeHtml(label)}"></a>`],
    ['badge', `[![${markdown}](${api}/badge.svg)](${page})`],
    [
      'homeAssistant',
      [
        'rest:',
        `  - resource: ${quote(`${api}/getall`)}`,
        '    scan_interval: 30',
        '    sensor:',
        `      - name: ${quote(`${label} players`)}`,
        '        value_template: "{{ value_json.METADATA.PLAYERS.ONLINE }}"',
        `      - name: ${quote(`${label} tick time`)}`,
        '        value_template: "{{ value_json.TICK_TIME }}"',
        '        unit_of_measurement: ms',
      ].join('\n'),
    ],
  ]
}
