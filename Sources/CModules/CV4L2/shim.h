#pragma once
#include <linux/videodev2.h>
