import { messages } from '../messages.ts'
import { visitEnglish, type VisitMessages } from './english.ts'

/** The messages of the page of a link, in the language that it is shown in. */
export const words: VisitMessages = messages.visit ?? visitEnglish
