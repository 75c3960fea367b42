import { readFile } from 'node:fs/promises'

/** package.json is one folder up, in the source and in the image. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { readonly version: string }).version
}
