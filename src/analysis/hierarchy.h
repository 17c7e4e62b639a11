#pragma once
#include "analysis/hist.h"
