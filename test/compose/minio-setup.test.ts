import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/service/program.ts'

const SECRETS = ['the-root-password', 'the-s3-secret-key']

let opened = new AsyncDisposableStack()

afterEach(async () => {
  await opened.disposeAsync()
  opened = new AsyncDisposableStack()
})

describe('the setup of MinIO in docker-compose.yml', () => {
  it('gives no program a secret as an argument, which every user of the host could read', async () => {
    const folder = await temporaryFolder(opened)
    // Stands for MinIO's client: notes its arguments and what it is sent.
    const client = ['#!/bin/sh', 'echo "args: $*" >> "$NOTES"', '[ -t 0 ] || cat >> "$NOTES"', '']
    await writeFile(join(folder, 'mc'), client.join('\n'), { mode: 0o755 })
    const script = (await setupScript()).replaceAll('/tmp/', `${folder}/`)
    const run = promisify(execFile)('/bin/sh', ['-euc', script], {
      env: {
        PATH: `${folder}:/usr/bin:/bin`,
        NOTES: join(folder, 'notes'),
        MINIO_ROOT_USER: 'root',
        MINIO_ROOT_PASSWORD: SECRETS[0],
        S3_SECRET_KEY: SECRETS[1],
      },
    })
    run.child.stdin?.end()
    await run
    const notes = (await readFile(join(folder, 'notes'), 'utf8')).split('\n')
    const calls = notes.filter((line) => line.startsWith('args: '))
    expect(calls.join('\n')).toMatch(/alias set local(.|\n)*admin user add local/)
    for (const secret of SECRETS) {
      expect(notes).toContain(secret)
      expect(calls.filter((call) => call.includes(secret))).toEqual([])
    }
  })
})

/** What the shell of `minio-setup` is given. */
async function setupScript(): Promise<string> {
  const file = await readFile('docker-compose.yml', 'utf8')
  const [, block = ''] = /\n {2}minio-setup:\n[^]*?\n {6}- \|\n((?: {8}.*\n)+)/.exec(file) ?? []
  return block.replace(/^ {8}/gm, '').replaceAll('$$', '$')
}
