// What people and teams may be named, and how long a password has to be (B1). In code points.

/** A user's name: letters, digits and a few signs. It has nothing that is shown as nothing. */
export const USERNAME = /^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u;

/** A team's name: one line of up to 64 characters without blanks at its ends. */
export const TEAM_NAME = /^(?!\s)\P{Cc}{1,64}(?<!\s)$/u;

export const MIN_PASSWORD_LENGTH = 8;
