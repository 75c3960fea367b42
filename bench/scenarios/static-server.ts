import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { isVersion } from '../../src/core/objects/object-key.ts'
import { startNginx } from '../../test/support/servers/nginx.ts'
import { FILES, readingSide, serviceDownloads } from '../sides/downloads.ts'
import type { Scenario, Side } from '../scenario.ts'
import { openStack, type Stack } from '../setup/stack.ts'

/** Local files against a server that does nothing else. */
export const staticServer: Scenario = {
  name: 'nginx-1m',
  title: '1 MiB downloads of local files; against nginx with the same folder',
  stacks: ['sqlite-files'],
  async open({ stack: name, servers, seconds, profile, opened }) {
    const stack = opened.use(await openStack({ name, servers, profile }))
    const subject = await serviceDownloads({ stack, content: randomBytes(2 ** 20), seconds })
    return { subject, baseline: await nginxSide(stack, seconds, opened) }
  },
}

/** As Debian ships it, but for the log, which is off. */
const DIRECTIVES = 'sendfile on; tcp_nopush on;'

async function nginxSide(
  stack: Stack,
  seconds: number,
  opened: AsyncDisposableStack,
): Promise<Side> {
  const nginx = await startNginx(DIRECTIVES)
  opened.defer(() => nginx.stop())
  await symlink(stack.objects, join(nginx.folder, 'users'))
  const entries = await readdir(join(stack.objects, 'user-0'))
  const paths = entries.filter(isVersion).map((version) => `user-0/${version}`)
  if (paths.length !== FILES) throw new Error(`${paths.length} files instead of ${FILES}`)
  const pathOf = (number: number): string => paths[number - 1] ?? ''
  const origin = `http://127.0.0.1:${nginx.port}`
  return readingSide({
    name: 'nginx',
    origin,
    processes: { nginx: [nginx.pid] },
    stack,
    seconds,
    target: (number) => `/users/${pathOf(number)}`,
    request: (number) => ({ url: `${origin}/users/${pathOf(number)}` }),
    contentOf: (number) => readFileSync(join(stack.objects, pathOf(number))),
  })
}
