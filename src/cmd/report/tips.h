/* One sentence at the end of a report. */
#pragma once

const char *report_tip(void);
