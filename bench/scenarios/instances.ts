import { randomBytes } from 'node:crypto'
import { freePort } from '../../test/support/servers/local-server.ts'
import { startNginx } from '../../test/support/servers/nginx.ts'
import { serviceDownloads } from '../sides/downloads.ts'
import type { Scenario } from '../scenario.ts'
import type { ServiceProcess } from '../setup/service-process.ts'
import { openStack } from '../setup/stack.ts'

/** What a second instance brings on one machine, each a process of one thread. */
export const instances: Scenario = {
  name: 'instances-2',
  title: '4 KiB downloads from two instances behind nginx; against one behind it',
  stacks: ['postgres-minio'],
  async open({ stack: name, servers, seconds, profile, opened }) {
    const stack = opened.use(await openStack({ name, servers, profile, instances: 2 }))
    const ports = { one: await freePort(), two: await freePort() }
    const addresses = stack.services.map(({ url }) => new URL(url).host)
    const directives =
      proxyOf({ name: 'one', port: ports.one, addresses: addresses.slice(0, 1) }) +
      proxyOf({ name: 'two', port: ports.two, addresses })
    const nginx = await startNginx(directives)
    opened.defer(() => nginx.stop())
    const downloads = { stack, content: randomBytes(4 * 2 ** 10), seconds }
    const side = (name: string, port: number, services: readonly ServiceProcess[]) =>
      serviceDownloads({ ...downloads, name, services, origin: `http://127.0.0.1:${port}` })
    return {
      subject: await side('2 instances', ports.two, stack.services),
      baseline: await side('1 instance', ports.one, [stack.service]),
    }
  },
}

function proxyOf(proxy: {
  readonly name: string
  readonly port: number
  readonly addresses: readonly string[]
}): string {
  const { name, port, addresses } = proxy
  const servers = addresses.map((address) => `server ${address};`)
  return `
    upstream ${name} { ${servers.join(' ')} keepalive 32; }
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://${name};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
      }
    }`
}
