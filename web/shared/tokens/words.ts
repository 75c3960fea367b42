import { messages } from '../../messages.ts'
import { type TokenMessages, tokensEnglish } from './english.ts'

/** The messages about tokens, in the language that the page is shown in. */
export const words: TokenMessages = messages.tokens ?? tokensEnglish
