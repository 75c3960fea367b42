import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { docker } from './docker.ts'
import { type Project, ROOT } from './project.ts'

/** What the containers may not do, and what the settings may not do silently. */
export function hardeningSuite(project: Project): void {
  const { compose } = project
  const run = (...words: string[]) => compose('exec', '-T', 'service', ...words)

  describe('the container of the service', () => {
    it('is not root, has no capability, and can gain none', async () => {
      const status = await run('cat', '/proc/1/status')
      expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m)
      expect(status).toMatch(/^CapEff:\t0+$/m)
      expect(status).toMatch(/^CapBnd:\t0+$/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    })

    it('can not write to its root file system, but to /data', async () => {
      await expect(run('touch', '/app/x')).rejects.toThrow('Read-only file system')
      await run('touch', '/data/x')
      await run('rm', '/data/x')
    })

    it('ends at SIGTERM with exit code 0, at once when it is idle', async () => {
      const container = `${project.name}-service-1`
      const start = Date.now()
      await docker(['kill', '--signal', 'SIGTERM', container])
      expect(await docker(['wait', container])).toBe('0')
      // The engine's own answer can take seconds longer.
      const ended = await docker(['inspect', '--format', '{{.State.FinishedAt}}', container])
      expect(Date.parse(ended) - start).toBeLessThan(5_000)
      await compose('up', '--detach', '--wait')
    })
  })

  it('every published port is on the loopback alone', async () => {
    const profiles = ['--profile', 'scale', '--profile', 'monitoring']
    const config = await readConfig(project, ...profiles)
    const published = Object.values(config.services).flatMap(({ ports = [] }) => ports)
    expect(published.map(({ host_ip }) => host_ip)).toEqual(Array(4).fill('127.0.0.1'))
  })

  it('the S3 user of the service can use its bucket and nothing else', async () => {
    const run = ['run', '--rm', '--no-deps', '-T', 'minio-setup']
    const keys = `printf '%s\\n' cloud-repository "$S3_SECRET_KEY"`
    const login = `${keys} | mc -q alias set s3 http://minio:9000`
    const asUser = (command: string) => compose(...run, `${login} && ${command}`)
    const denied = 'Access Denied'
    expect(await asUser('mc -q ls --recursive s3/cloud-repository/users/')).toContain('alice/')
    await expect(asUser('mc -q mb s3/other')).rejects.toThrow(denied)
    // Not `mc rb --force`, which first removes what the user may remove, so all objects.
    await expect(asUser('mc -q version enable s3/cloud-repository')).rejects.toThrow(denied)
    await expect(asUser('mc -q anonymous set public s3/cloud-repository')).rejects.toThrow(denied)
    await expect(asUser('mc -q admin user list s3')).rejects.toThrow(denied)
  })

  it('the image carries the version of package.json', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      version: string
    }
    const label = '{{index .Config.Labels "org.opencontainers.image.version"}}'
    expect(await docker(['image', 'inspect', '--format', label, `${project.name}-service`])).toBe(
      version,
    )
  })
}

interface ComposeConfig {
  readonly services: Readonly<Record<string, { ports?: { host_ip?: string }[] }>>
}

async function readConfig({ compose }: Project, ...options: string[]): Promise<ComposeConfig> {
  return JSON.parse(await compose(...options, 'config', '--format', 'json')) as ComposeConfig
}
