// The import rules. `npm run check` applies them, types included; docs/src/layer-diagram.ts draws what they see.

/** From the bottom to the top: each part may import the parts before it. */
const order = [
  ...['src/util', 'src/settings', 'src/secrets', 'src/game', 'src/demo', 'src/discovery', 'src/http', 'src/maintenance'],
  ...['src/history', 'src/live', 'src/notify', 'src/status-api', 'exporter', 'src/web', 'src/cluster', 'src/data', 'src/otlp'],
  ...['src/config', 'src/app.ts', 'src/library', 'src/commands', 'src/main.ts', 'grafana/src'],
]

/** What serves: these take what they need from src/app.ts as an interface. */
const served = [
  'src/status-api',
  'exporter',
  'src/data',
  'src/history',
  'src/live',
  'src/notify',
  'src/web',
  'src/cluster',
  'src/otlp',
]

const within = (...parts) => `^(${parts.join('|').replaceAll('.', '\\.')})(/|$)`
const packages = (...names) => `(^|node_modules/)(${names.join('|')})(/|$)`

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

export default {
  forbidden: [
    rule('no-circles', 'Files in a circle can only be understood, loaded and tested together.', {}, { circular: true }),
    rule(
      'every-part-has-a-place',
      'A part that is not in `order` would be free to import everything.',
      { pathNot: [within(...order), '^src/[^/]+\\.mjs$', 'node_modules/'], path: '^(src|exporter|grafana)/' },
      {},
    ),
    ...order
      .slice(0, -1)
      .map((part, floor) =>
        rule(
          `only-below-${part}`,
          'A part imports only parts below it, so that each can be read and tested without those above.',
          { path: within(part) },
          { path: within(...order.slice(floor + 1)) },
        ),
      ),
    ...served.map((part) =>
      rule(
        `no-other-served-part-from-${part}`,
        'The parts that serve do not import each other, so that each can be left out; the page shows the history and live values, and notifications have the same states as events.',
        { path: within(part) },
        {
          path: within(
            ...served.filter(
              (other) =>
                other !== part &&
                !(part === 'src/web' && /history|live/.test(other)) &&
                !(part === 'src/notify' && /live/.test(other)),
            ),
          ),
        },
      ),
    ),
    rule(
      'protocol-is-pure',
      'Protocol code is bytes to values, so that tests and other programs can use it without sockets.',
      { path: within('src/game/protocol') },
      { path: within('src', 'exporter'), pathNot: within('src/game/protocol', 'src/util') },
    ),
    rule(
      'game-serves-nothing',
      'The library and the commands watch servers without a web server or metrics.',
      { path: within('src/game') },
      { path: packages('fastify', '@fastify', 'prom-client') },
    ),
    rule(
      'prom-client-in-exporter',
      'Its successor needs a newer Node.js: one place to change.',
      { pathNot: [within('exporter'), 'node_modules/'] },
      { path: packages('prom-client') },
    ),
    rule(
      'process-in-config',
      'Settings are read once, checked and typed; `node:process` would be a second way to the environment.',
      { path: '^(src|exporter)/.*\\.ts$', pathNot: '^src/config/config\\.ts$' },
      { path: '^(node:)?process$' },
    ),
    rule(
      'no-tests-in-the-service',
      'Tests, benchmarks and the sources of the docs are not installed.',
      { path: within('src', 'exporter') },
      { path: within('test', 'bench', 'docs', 'grafana') },
    ),
  ],
  required: [
    {
      name: 'typescript-is-read',
      comment: 'Without a version of TypeScript that dependency-cruiser supports, every file would seem to import nothing.',
      severity: 'error',
      module: { path: '^src/main\\.ts$' },
      to: { path: within('src/commands') },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    moduleSystems: ['es6'],
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
  },
}
