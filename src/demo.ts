import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { type Config, readConfig } from './config/config.ts'
import type { Environment } from './config/reader.ts'
import { isAppError } from './core/errors.ts'
import { parseUserId, type UserId } from './core/users/user-id.ts'
import type { Service } from './compose/compose.ts'

const DAY_SECONDS = 24 * 3600

export interface DemoPlace {
  /** Includes the base path. */
  readonly url: string
  readonly hasPage: boolean
  readonly operatorPageUrl: string | undefined
  readonly adminToken: DemoConfig['adminToken']
  /** Whether a person reads the output now; a journal would keep the tokens. */
  readonly showsToken: boolean
}

/** Creates the user `demo`. The text holds a one-day token if `showsToken`, but no admin token that outlives the process. */
export async function introduceDemo(
  service: Service,
  { url, hasPage, operatorPageUrl, adminToken, showsToken }: DemoPlace,
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
    ? `Open the user's files in a browser: ${url}/${fragment}\n${operatorPage(operatorPageUrl, adminToken)}\n`
    : ''
  return `
Cloud Repository listens on ${url}
${secret === undefined ? (refusal ?? WITHOUT_TOKEN) : `Access token of the user "demo", valid for one day: ${secret}`}

${pages}Upload a file and download it again:

  ${curl} -w '\\n' -F 'file=@${resolve('README.md')}' ${file}
  ${curl} ${file}
`
}

/**
 * The settings of a demo that opens the operators' page: without `ADMIN_TOKEN`, the admin listener has a token of this
 * start, and is on the loopback.
 */
export function readDemoConfig(environment: Environment): DemoConfig {
  const config = readConfig(environment)
  if (config.admin !== undefined || !config.webPage) return { config, adminToken: undefined }
  const adminToken = randomBytes(32).toString('base64url')
  const { ADMIN_PORT, ADMIN_PORT_FILE } = environment
  const port = ADMIN_PORT || ADMIN_PORT_FILE ? {} : { ADMIN_PORT: '0' }
  const noFiles = { ADMIN_TOKEN_FILE: undefined, ADMIN_HOST_FILE: undefined }
  const admin = { ...noFiles, ...port, ADMIN_TOKEN: adminToken, ADMIN_HOST: '127.0.0.1' }
  return { config: readConfig({ ...environment, ...admin }), adminToken }
}

export interface DemoConfig {
  readonly config: Config
  /** Of this start alone; `undefined` if the settings have one, or there is no page. */
  readonly adminToken: string | undefined
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

function operatorPage(url: string | undefined, adminToken: string | undefined): string {
  if (url === undefined) return ''
  return adminToken === undefined
    ? `Open the operators' page in a browser and sign in with ADMIN_TOKEN: ${url}/\n`
    : `Open the operators' page in a browser: ${url}/#admin_token=${adminToken}\n`
}

const WITHOUT_TOKEN = `No access token is printed because the output is not a terminal.
"npm start -- --print-token" prints one, and a link to the operators' page.
To issue one for the user "demo", use the same settings as the service (such as DATA_DIR or DATABASE_URL):
npm run -s cli -- tokens issue demo`
