const settings = 'a setting, which the operator writes'
const arguments_ = 'the command line'
const own = 'what this program has written'
const requests = 'test/fuzz/http.test.ts sends requests to every route'
const pages = 'test/fuzz/http.test.ts draws what servers send'
const browser = 'runs in the browser, with what the service sends'

/** Folders, files and functions that take text or bytes apart and that no reader calls, with the reason. */
export const otherParsers: Readonly<Record<string, string>> = {
  'exporter/probe/allow-list.ts': 'compares addresses: `match` is a method of ipaddr.js',
  'exporter/text.ts': own,
  'src/cluster/problems.ts describe': 'the code at the start of an error',
  'src/cluster/snapshot-exchange.ts #write': '`exec` is a method of Redis',
  'src/commands/init/enable-rcon.ts': 'a file of the user, changed at the request of the user',
  'src/commands/init/files.ts': 'files of the user, changed at the request of the user',
  'src/commands/init/find-servers.ts nameFor': 'the name of a folder that the user has chosen',
  'src/commands/mc-monitor/collect-otel.ts': own,
  'src/commands/mc-monitor/monitoring.ts': 'compares the path of a request',
  'src/commands/program.ts': arguments_,
  'src/commands/status/card.ts': own,
  'src/data/databases/declared.ts': requests,
  'src/data/runs/schedule-setting.ts parse': settings,
  'src/demo/': 'servers for trying out, which only their user reaches',
  'src/game/names/system-files.ts candidates': 'a host name of the settings',
  'src/game/proxy-kinds.ts parse': settings,
  'src/game/sources/directory/loader.ts': 'names of folders that only the operator of the game server writes',
  'src/history/incidents.ts': arguments_,
  'src/history/routes/register.ts': requests,
  'src/history/store/connection.ts': '`exec` is a method of the database',
  'src/history/store/database.ts': '`exec` is a method of the database',
  'src/http/': requests,
  'src/notify/notification.ts': settings,
  'src/notify/status-message.ts': 'an id in a reply of Discord, whose errors are reported',
  'src/otlp/export.ts': own,
  'src/otlp/settings.ts': settings,
  'src/otlp/settings.ts canDecode': settings,
  'src/secrets/mask-value.ts isClean': own,
  'src/secrets/masked-log.ts': own,
  'src/settings/kinds/': settings,
  'src/util/package.ts': own,
  'src/util/parse-url.ts decodePart': requests,
  'src/util/text-pattern.ts matchesPattern': settings,
  'src/web/assets.ts readAssets': own,
  'src/web/assets.ts readNames': own,
  'src/web/brand.ts logoType': settings,
  'src/web/brand.ts parse': settings,
  'src/web/client/': browser,
  'src/web/page.ts': requests,
  'src/web/pictures/': pages,
  'src/web/view/': pages,
}
