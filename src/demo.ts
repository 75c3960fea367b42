import { resolve } from 'node:path'
import { parseUserId } from './core/user-id.ts'
import type { RunningServer } from './serve.ts'
import type { Service } from './service.ts'

const DAY_SECONDS = 24 * 3600

export interface DemoPlace extends Pick<RunningServer, 'hasPage' | 'operatorPageUrl'> {
  /** Of the listener, base path included. */
  readonly url: string
}

/**
 * Makes the user `demo` and returns what a newcomer can paste. The link to the page of that user brings a new token along,
 * which is good for a day; the one to the operator's page asks for the admin token, which opens everything for as long as
 * the operator keeps it, and is written to no terminal, log or history.
 */
export async function introduceDemo(
  service: Service,
  { url, hasPage, operatorPageUrl }: DemoPlace,
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
  const pages = [
    hasPage ? `Look at its files in a browser: ${url}/#access_token=${secret}\n` : '',
    operatorPageUrl === undefined
      ? ''
      : `Administer it in a browser, with the ADMIN_TOKEN: ${operatorPageUrl}/\n`,
  ].join('')
  return `
Cloud Repository listens on ${url}
Its user "demo" has this access token for a day: ${secret}

${pages === '' ? '' : `${pages}\n`}Upload a file, and download it again:

  ${curl} -w '\\n' -F 'file=@${resolve('README.md')}' ${file}
  ${curl} ${file}
`
}
