/** Where the browser stores the chosen theme. */
export const themeKey = 'tickwarden-theme'
/** Name in localStorage of the chosen density of the page of all servers. */
export const densityKey = 'tickwarden-density'
