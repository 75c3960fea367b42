import { messages } from '../../messages.ts'
import { type MovesMessages, movesEnglish } from './english.ts'

/** The messages of moves and of new folders, in the language that the page is shown in. */
export const words: MovesMessages = messages.moves ?? movesEnglish
