import { readFile, rename, writeFile } from 'node:fs/promises'
import { digestOfFile } from '../../../core/digest-of-file.ts'
import { orMissing } from '../or-missing.ts'

/**
 * Records the digest of a pack that no service uses, so that `isSealed` finds even a byte that has flipped where it belongs
 * to no object.
 */
export async function sealPack(file: string): Promise<void> {
  const temporary = `${sealOf(file)}.tmp`
  await writeFile(temporary, await digestOf(file), { mode: 0o600, flush: true })
  await rename(temporary, sealOf(file))
}

/** Whether the pack is, to the byte, the one that was sealed. */
export async function isSealed(file: string): Promise<boolean> {
  return (await orMissing(readFile(sealOf(file), 'utf8'))) === (await digestOf(file))
}

function sealOf(file: string): string {
  return `${file}.sha256`
}

/** There is no pack before the first small object. */
async function digestOf(file: string): Promise<string> {
  return (await orMissing(digestOfFile(file))) ?? ''
}
