import type { JSONWebKeySet } from 'jose'

/** Keys are checked on use. Rejects on a redirect, a status but 200, no key set, over `MAX_BYTES`, and on abort. */
export async function fetchJwks(url: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  const response = await fetch(url, {
    headers: { accept: 'application/json, application/jwk-set+json' },
    redirect: 'error',
    signal,
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`The request for the JWKS got status ${response.status}.`)
  }
  return parseJwks(await textOf(response))
}

function parseJwks(text: string): JSONWebKeySet {
  const jwks = JSON.parse(text) as JSONWebKeySet | null
  if (!Array.isArray(jwks?.keys)) throw new Error('The response is not a JWKS.')
  return jwks
}

const MAX_BYTES = 512 * 1024

async function textOf({ body }: Response): Promise<string> {
  const stream: AsyncIterable<Uint8Array> | null = body
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`The JWKS is larger than ${MAX_BYTES} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
