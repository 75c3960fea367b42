import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { isSkipped, whyMissing } from '../support/servers/needs.ts'
import { temporaryFolder } from '../support/service/program.ts'
import { docker } from './docker.ts'

const FILES = ['-f', 'docker-compose.yml', '-f', 'deploy/docker-compose.seaweedfs.yml']

interface Merged {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command: readonly string[]
        readonly depends_on?: object
        readonly environment: Readonly<Record<string, string>>
        readonly ports?: readonly object[]
        readonly user?: string
      }
    >
  >
}

const hasNoDocker = isSkipped(await whyMissing(docker(['compose', 'version'])))

it.skipIf(hasNoDocker)(
  'deploy/docker-compose.seaweedfs.yml replaces MinIO, with the same key',
  async () => {
    const { services } = await merge('a"b\\c')
    expect(Object.keys(services).toSorted()).toEqual(['postgres', 'seaweedfs', 'service'])
    const { service, seaweedfs } = services
    expect(Object.keys(service?.depends_on ?? {}).toSorted()).toEqual(['postgres', 'seaweedfs'])
    expect(service?.environment).toMatchObject({
      AWS_ENDPOINT_URL_S3: 'http://seaweedfs:8333',
      AWS_SECRET_ACCESS_KEY: 'a"b\\c',
    })
    expect(seaweedfs?.ports).toBeUndefined()
    // The user of the image, to whom /data belongs: root without capabilities could not write there.
    expect(seaweedfs?.user).toBe('1000:1000')

    await using opened = new AsyncDisposableStack()
    const folder = await temporaryFolder(opened)
    await mkdir(join(folder, 'tmp'))
    // Stands for SeaweedFS: notes its arguments, and answers as its shell does.
    const program = [
      '#!/bin/sh',
      'echo "$*" >> "$NOTES"',
      `case "$1" in shell) cat; echo '"fsync": true' ;; *) sleep 1 ;; esac`,
    ]
    await writeFile(join(folder, 'weed'), program.join('\n'), { mode: 0o755 })
    const script = (seaweedfs?.command[0] ?? '')
      .replaceAll('$$', '$')
      .replaceAll('/tmp/', `${folder}/tmp/`)
    await promisify(execFile)('/bin/sh', ['-euc', script], {
      env: {
        PATH: `${folder}:/usr/bin:/bin`,
        NOTES: join(folder, 'notes'),
        ...seaweedfs?.environment,
      },
    })
    const config = JSON.parse(await readFile(join(folder, 'tmp', 's3.json'), 'utf8')) as object
    const credentials = [{ accessKey: 'cloud-repository', secretKey: 'a"b\\c' }]
    expect(config).toMatchObject({ identities: [{ credentials }] })
    await readFile(join(folder, 'tmp', 'prepared'))
    const notes = await readFile(join(folder, 'notes'), 'utf8')
    // Without it, nobody needs a key.
    expect(notes).toMatch(/server -dir=\/data .* -s3\.config=\S+s3\.json /)
    expect(notes).not.toContain('a"b')
  },
)

async function merge(key: string): Promise<Merged> {
  const args = ['compose', ...FILES, 'config', '--format', 'json']
  return JSON.parse(await docker(args, { environment: { S3_SECRET_KEY: key } })) as Merged
}
