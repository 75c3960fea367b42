import { resolve } from 'node:path'
import { parseUserId } from './core/user-id.ts'
import type { Service } from './service.ts'

const DAY_SECONDS = 24 * 3600

/** Makes the user `demo` and returns what a newcomer can paste. `url` is the listener's, base path included. */
export async function introduceDemo(
  service: Service,
  { url, hasPage }: { readonly url: string; readonly hasPage: boolean },
): Promise<string> {
  const userId = parseUserId('demo')
  await service.users.create(userId)
  const { secret } = await service.accessTokens.issue({
    userId,
    label: 'npm start',
    expiresInSeconds: DAY_SECONDS,
  })
  const file = `${url}/users/me/repo/README.md`
  const curl = `curl --cookie access_token=${secret}`
  const page = hasPage ? `Look at its files in a browser: ${url}/#access_token=${secret}\n\n` : ''
  return `
Cloud Repository listens on ${url}
Its user "demo" has this access token for a day: ${secret}

${page}Upload a file, and download it again:

  ${curl} -w '\\n' -F 'file=@${resolve('README.md')}' ${file}
  ${curl} ${file}
`
}
