import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { findProgram } from './servers/local-server.ts'
import { isSkipped, whyMissing } from './servers/needs.ts'

/** Whether tests that read archives have to be skipped. */
export const isWithoutZip = isSkipped(
  await whyMissing(Promise.all(['python3', 'unzip'].map(findProgram))),
)

export interface ZipEntry {
  readonly name: string
  readonly size: number
  readonly sha256: string
  readonly isStored: boolean
}

const READ = `
import hashlib, json, sys, zipfile
entries = []
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        digest = hashlib.sha256()
        with archive.open(info) as content:
            while chunk := content.read(1 << 20): digest.update(chunk)
        entries.append({"name": info.filename, "size": info.file_size, "sha256": digest.hexdigest(),
            "isStored": info.compress_type == zipfile.ZIP_STORED and info.compress_size == info.file_size})
json.dump(entries, sys.stdout)
`

/** The entries of an archive as Python reads them, with their checksums verified. */
export async function readZipFile(path: string): Promise<readonly ZipEntry[]> {
  return JSON.parse(await run('python3', ['-c', READ, path])) as readonly ZipEntry[]
}

/** As `readZipFile`; `unzip` has to accept the archive as well, unless it is empty. */
export async function readZip(content: Uint8Array): Promise<readonly ZipEntry[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cloud-repository-zip-'))
  try {
    const path = join(folder, 'archive.zip')
    await writeFile(path, content)
    const entries = await readZipFile(path)
    if (entries.length > 0) await run('unzip', ['-tqq', path])
    return entries
  } finally {
    await rm(folder, { recursive: true })
  }
}

export async function run(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ])
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${output}${errors}`)
  return output
}
