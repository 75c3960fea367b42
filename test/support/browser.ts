import { type Browser, chromium } from 'playwright-core'
import { findProgram } from './local-server.ts'

/** Starts the Chromium or Chrome of this machine without a window. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findBrowser() })
}

export async function findBrowser(): Promise<string> {
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
  for (const name of names) {
    const program = await findProgram(name).catch(() => undefined)
    if (program !== undefined) return program
  }
  throw new Error(`none of the programs ${names.join(', ')} is on the PATH`)
}
