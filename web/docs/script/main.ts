import { completeCommands } from './commands.ts'
import { startSearch } from './search.ts'
import { showViews } from './views.ts'

// Before the body is read, so that nothing is shown that disappears again.
document.documentElement.classList.add('scripted')

document.addEventListener('DOMContentLoaded', () => {
  const views = showViews()
  startSearch(views)
  completeCommands()
})
