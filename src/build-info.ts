import { readFile } from 'node:fs/promises'

/** The version of this release, from package.json, which lies beside the folder of this file in the source and in the image. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
