/** What the page itself refuses. The message is for the user. */
export class Refusal extends Error {}
