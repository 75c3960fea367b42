import { resolve } from 'node:path'
import { isAppError } from './core/errors.ts'
import { parseUserId, type UserId } from './core/users/user-id.ts'
import type { Service } from './compose/compose.ts'

const DAY_SECONDS = 24 * 3600

export interface DemoPlace {
  /** Includes the base path. */
  readonly url: string
  readonly hasPage: boolean
  readonly operatorPageUrl: string | undefined
  /** Whether a person reads the output now; a journal would keep the token. */
  readonly showsToken: boolean
}

/** Creates the user `demo`. The text holds a one-day token if `showsToken`, but no admin token: it opens everything. */
export async function introduceDemo(
  service: Service,
  { url, hasPage, operatorPageUrl, showsToken }: DemoPlace,
): Promise<string> {
  const userId = parseUserId('demo')
  const { secret, refusal }: Issued = await issueToken(service, { userId, showsToken }).catch(
    (error: unknown) => {
      // The service serves what it has.
      if (!isAppError(error, 'insufficient_storage')) throw error
      return { refusal: error.message }
    },
  )
  const file = `${url}/users/me/repo/README.md`
  const curl = `curl --cookie access_token=${secret ?? '...'}`
  const fragment = secret === undefined ? '' : `#access_token=${secret}`
  const pages = hasPage
    ? `Open the user's files in a browser: ${url}/${fragment}\n${operatorPage(operatorPageUrl)}\n`
    : ''
  return `
Cloud Repository listens on ${url}
${secret === undefined ? (refusal ?? WITHOUT_TOKEN) : `Access token of the user "demo", valid for one day: ${secret}`}

${pages}Upload a file and download it again:

  ${curl} -w '\\n' -F 'file=@${resolve('README.md')}' ${file}
  ${curl} ${file}
`
}

interface Issued {
  readonly secret?: string
  readonly refusal?: string
}

async function issueToken(
  service: Service,
  { userId, showsToken }: { readonly userId: UserId; readonly showsToken: boolean },
): Promise<Issued> {
  await service.users.create(userId)
  const terms = { userId, label: 'npm start', expiresInSeconds: DAY_SECONDS }
  return showsToken ? await service.accessTokens.issue(terms) : {}
}

function operatorPage(url: string | undefined): string {
  return url === undefined
    ? `To get the operators' page too, stop this with Ctrl-C and run:\n\n  ${WITH_ADMIN_TOKEN}\n`
    : `Open the operators' page in a browser and sign in with ADMIN_TOKEN: ${url}/\n`
}

/** The reader's own shell makes and shows the token, since the service never prints it. */
const WITH_ADMIN_TOKEN =
  'export ADMIN_TOKEN=$(openssl rand -hex 20); echo "ADMIN_TOKEN is $ADMIN_TOKEN"; npm start'

const WITHOUT_TOKEN = `No access token is printed because the output is not a terminal.
"npm start -- --print-token" prints one.
To issue one for the user "demo", use the same settings as the service (such as DATA_DIR or DATABASE_URL):
npm run -s cli -- tokens issue demo`
