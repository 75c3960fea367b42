import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createClient, sha256 } from './client.ts'
import type { Project } from './project.ts'

/** Several instances behind the proxy, `project.port` being the proxy's. */
export function scaleSuite(project: Project): void {
  const compose = (...words: string[]) => project.compose('--profile', 'scale', ...words)
  const scale = (count: number) =>
    compose('up', '--detach', '--wait', '--scale', `service=${count}`)

  describe('--profile scale', () => {
    it('spreads requests over three instances, and notices when they become one', async () => {
      await scale(3)
      const client = await createClient({
        port: project.proxyPort,
        cli: project.cli,
        userId: 'eve',
      })
      const content = randomBytes(20 * 2 ** 20)
      expect(await client.upload('a.bin', content)).toMatchObject({ status: 200 })
      const file = { status: 200, sha256: sha256(content) }
      for (let i = 0; i < 9; i++) expect(await client.download('a.bin')).toEqual(file)
      // The proxy picks at random, so that of few requests none may reach one of the three.
      expect(await client.upload('small', randomBytes(10))).toMatchObject({ status: 200 })
      for (let i = 0; i < 100; i++) await client.download('small')
      expect(await instancesThatServed(project)).toBe(3)

      await scale(1)
      await client.ready()
      for (let i = 0; i < 9; i++) expect(await client.download('a.bin')).toEqual(file)
    })

    it('forwards the scheme that a proxy with TLS in front of it sends', async () => {
      const authority = `127.0.0.1:${project.proxyPort}`
      const codeOfWrite = async (scheme: string): Promise<unknown> => {
        const headers = { origin: `https://${authority}`, 'x-forwarded-proto': scheme }
        const url = `http://${authority}/users/me/repo/a`
        return (await fetch(url, { method: 'DELETE', headers })).json()
      }
      expect(await codeOfWrite('https')).toMatchObject({ code: 'access_token_missing' })
      expect(await codeOfWrite('http')).toMatchObject({ code: 'cross_site_request' })
    })
  })
}

/** How many instances have logged a download. */
async function instancesThatServed({ compose }: Project): Promise<number> {
  const lines = (await compose('logs', '--no-color', 'service')).split('\n')
  const downloads = lines.filter((line) => /"method":"GET","route":"\/users\//.test(line))
  return new Set(downloads.map((line) => line.split('|')[0])).size
}
