import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { createFolder, findProgram } from '../servers/local-server.ts'

/**
 * Starts the Chromium or Chrome of this machine without a window, with further options of its command line. In the gate,
 * that is the shell of Chromium if the machine has it: the same engine, which takes half of the CPU time.
 */
export async function startBrowser(...args: readonly string[]): Promise<Browser> {
  return chromium.launch({ executablePath: await findBrowser(), args: [...args] })
}

/**
 * Starts one that sends cookies to another site than the page's, where their `SameSite` lets it, which is what a page
 * that is up to something can hope for. Chromium by itself sends them with navigations alone.
 */
export async function startLenientBrowser(): Promise<{
  readonly context: BrowserContext
  stop(): Promise<void>
}> {
  const executablePath = await findBrowser()
  const folder = await createFolder('browser')
  await mkdir(join(folder.path, 'Default'))
  const profile = { cookie_controls_mode: 0, block_third_party_cookies: false }
  await writeFile(join(folder.path, 'Default', 'Preferences'), JSON.stringify({ profile }))
  const context = await chromium.launchPersistentContext(folder.path, { executablePath })
  return {
    context,
    async stop() {
      await context.close()
      await folder.remove()
    },
  }
}

/** Why no browser can be driven here, or `undefined`. */
export function whyNoBrowser(): Promise<string | undefined> {
  return findBrowser().then(
    () => undefined,
    (error: Error) => error.message,
  )
}

export async function findBrowser(): Promise<string> {
  const shells = process.env['HEADLESS_SHELL'] === '1' ? ['chromium-headless-shell'] : []
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
  for (const name of [...shells, ...names]) {
    const program = await findProgram(name).catch(() => undefined)
    if (program !== undefined) return program
  }
  throw new Error(`none of the programs ${names.join(', ')} is on the PATH`)
}
