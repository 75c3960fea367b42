import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  answers,
  createFolder,
  findProgram,
  freePort,
  isExecutable,
  runServer,
} from './local-server.ts'

export interface Nginx {
  readonly port: number
  readonly pid: number
  /** Whatever is put here is served under its name. */
  readonly folder: string
  stop(): Promise<void>
}

/**
 * Runs the nginx of this machine as a server of files, one process; `If-Modified-Since` as RFC 9110 has it, else its
 * defaults and the further `directives`.
 */
export async function startNginx(directives = ''): Promise<Nginx> {
  const program = await findNginx()
  const folder = await createFolder('nginx')
  const port = await freePort()
  const settings = join(folder.path, 'nginx.conf')
  await writeFile(settings, configuration({ folder: folder.path, port, directives }))
  try {
    const server = await runServer({
      program,
      args: ['-p', folder.path, '-e', 'error.log', '-c', settings],
      isReady: () => answers(`http://127.0.0.1:${port}/nginx.conf`),
      stopSignal: 'SIGTERM',
    })
    const stop = async (): Promise<void> => {
      await server.stop()
      await folder.remove()
    }
    return { port, pid: server.pid, folder: folder.path, stop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/**
 * Runs the nginx of this machine with `deploy/nginx.conf` in front of the instances that listen on `port` of the
 * addresses which the DNS server at `dnsPort` names. Only places and ports are changed.
 */
export async function startProxy(service: {
  readonly port: number
  readonly dnsPort: number
}): Promise<Pick<Nginx, 'port' | 'stop'>> {
  return startChanged({
    'resolver 127.0.0.11 ': `resolver 127.0.0.1:${service.dnsPort} `,
    'service:3000;': `service:${service.port};`,
  })
}

/** The same in front of instances on these ports of the loopback, which get the requests in turn. */
export async function startBalancer(
  ports: readonly number[],
): Promise<Pick<Nginx, 'port' | 'stop'>> {
  const servers = ports.map((port) => `server 127.0.0.1:${port};`).join(' ')
  return startChanged({
    'http {': `http { upstream instances { zone instances 64k; ${servers} }`,
    'service:3000;': 'instances;',
  })
}

/** Runs nginx with `deploy/nginx.conf` in which these places are replaced. */
async function startChanged(
  changes: Readonly<Record<string, string>>,
): Promise<Pick<Nginx, 'port' | 'stop'>> {
  const program = await findNginx()
  const folder = await createFolder('proxy')
  const port = await freePort()
  const settings = join(folder.path, 'nginx.conf')
  const places = {
    'listen 8080;': `listen 127.0.0.1:${port};`,
    'error_log stderr ': `error_log ${folder.path}/error.log `,
    ...changes,
  }
  let text = (await readFile('deploy/nginx.conf', 'utf8')).replaceAll('/tmp/', `${folder.path}/`)
  for (const [place, other] of Object.entries(places)) {
    if (!text.includes(place)) throw new Error(`deploy/nginx.conf does not say ${place}`)
    text = text.replace(place, other)
  }
  await writeFile(settings, text)
  // Its workers would be others than whoever owns the folder.
  const user = process.getuid?.() === 0 ? 'user root; ' : ''
  try {
    const server = await runServer({
      program,
      args: ['-p', folder.path, '-c', settings, '-g', `${user}daemon off;`],
      isReady: () => answers(`http://127.0.0.1:${port}/livez`),
      stopSignal: 'SIGTERM',
    })
    const stop = async (): Promise<void> => {
      await server.stop()
      await folder.remove()
    }
    return { port, stop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

/** Debian keeps it where only the administrator's PATH leads. */
export async function findNginx(): Promise<string> {
  const debian = '/usr/sbin/nginx'
  return (await isExecutable(debian)) ? debian : await findProgram('nginx')
}

function configuration(server: {
  readonly folder: string
  readonly port: number
  readonly directives: string
}): string {
  const { folder, port, directives } = server
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
    daemon off;
    master_process off;
    pid ${folder}/nginx.pid;
    error_log ${folder}/error.log;
    events {}
    http {
      ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ')}
      access_log off;
      default_type application/octet-stream;
      ${directives}
      server {
        listen 127.0.0.1:${port};
        root ${folder};
        if_modified_since before;
      }
    }`
}
