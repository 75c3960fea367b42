/** Puts the address of the service into the commands, and adds buttons that copy them. */
export function completeCommands(): void {
  const address = ownAddress()
  if (address !== undefined) {
    for (const span of document.querySelectorAll('.address')) span.textContent = address
  }
  const said = document.createElement('p')
  said.className = 'unseen'
  said.setAttribute('role', 'status')
  document.querySelector('main')?.append(said)
  for (const command of document.querySelectorAll<HTMLElement>('.command')) {
    addButton(command, (text) => {
      said.textContent = text
    })
  }
}

/** Of the service that has sent this page, as a part of a word in single quotes; none if the page was saved. */
function ownAddress(): string | undefined {
  const { protocol, origin, pathname } = location
  if (!protocol.startsWith('http')) return undefined
  return `${origin}${pathname.replace(/\/docs$/, '')}`.replaceAll("'", String.raw`'\''`)
}

const SHOWN_MS = 2_000

function addButton(command: HTMLElement, say: (text: string) => void): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button button-small copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy the command')
  async function onClick(): Promise<void> {
    const isCopied = await copy(command)
    button.textContent = isCopied ? 'Copied' : 'Selected'
    say(isCopied ? 'Copied' : 'Your browser did not allow copying. The command is selected.')
    setTimeout(() => {
      button.textContent = 'Copy'
      say('')
    }, SHOWN_MS)
  }

  button.addEventListener('click', () => void onClick())
  const box = document.createElement('div')
  box.className = 'command-box'
  command.replaceWith(box)
  box.append(command, button)
}

/** Selects the command too, so that it can be copied by hand if it cannot be done here. */
async function copy(command: HTMLElement): Promise<boolean> {
  const selection = getSelection()
  selection?.selectAllChildren(command)
  try {
    await navigator.clipboard.writeText(command.textContent)
  } catch {
    // Without TLS there is no clipboard, and in the sandbox of this page browsers may refuse it.
    if (!document.execCommand('copy')) return false
  }
  selection?.removeAllRanges()
  return true
}
